from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_KIND_UNSPECIFIED: _ClassVar[EventKind]
    ARRIVED: _ClassVar[EventKind]
    ASSIGNED: _ClassVar[EventKind]
    STARTED: _ClassVar[EventKind]
    FINISHED: _ClassVar[EventKind]
    DROPPED: _ClassVar[EventKind]
    RETURNED: _ClassVar[EventKind]
    WORKER_LOST: _ClassVar[EventKind]
    WORKER_BACK: _ClassVar[EventKind]
EVENT_KIND_UNSPECIFIED: EventKind
ARRIVED: EventKind
ASSIGNED: EventKind
STARTED: EventKind
FINISHED: EventKind
DROPPED: EventKind
RETURNED: EventKind
WORKER_LOST: EventKind
WORKER_BACK: EventKind

class Job(_message.Message):
    __slots__ = ("job_id", "arrival_time_us", "service_time_us")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    ARRIVAL_TIME_US_FIELD_NUMBER: _ClassVar[int]
    SERVICE_TIME_US_FIELD_NUMBER: _ClassVar[int]
    job_id: int
    arrival_time_us: int
    service_time_us: int
    def __init__(self, job_id: _Optional[int] = ..., arrival_time_us: _Optional[int] = ..., service_time_us: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("kind", "time_us", "job_id", "worker", "service_time_us")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    SERVICE_TIME_US_FIELD_NUMBER: _ClassVar[int]
    kind: EventKind
    time_us: int
    job_id: int
    worker: int
    service_time_us: int
    def __init__(self, kind: _Optional[_Union[EventKind, str]] = ..., time_us: _Optional[int] = ..., job_id: _Optional[int] = ..., worker: _Optional[int] = ..., service_time_us: _Optional[int] = ...) -> None: ...

class LogHeader(_message.Message):
    __slots__ = ("format_version", "source", "balancer", "seed", "cores", "capacity", "refresh_interval_us", "horizon_us")
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BALANCER_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    CORES_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    REFRESH_INTERVAL_US_FIELD_NUMBER: _ClassVar[int]
    HORIZON_US_FIELD_NUMBER: _ClassVar[int]
    format_version: int
    source: str
    balancer: str
    seed: int
    cores: _containers.RepeatedScalarFieldContainer[int]
    capacity: int
    refresh_interval_us: int
    horizon_us: int
    def __init__(self, format_version: _Optional[int] = ..., source: _Optional[str] = ..., balancer: _Optional[str] = ..., seed: _Optional[int] = ..., cores: _Optional[_Iterable[int]] = ..., capacity: _Optional[int] = ..., refresh_interval_us: _Optional[int] = ..., horizon_us: _Optional[int] = ...) -> None: ...

class LogEnd(_message.Message):
    __slots__ = ("time_us", "num_events", "checksum")
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    NUM_EVENTS_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    time_us: int
    num_events: int
    checksum: int
    def __init__(self, time_us: _Optional[int] = ..., num_events: _Optional[int] = ..., checksum: _Optional[int] = ...) -> None: ...

class LogRecord(_message.Message):
    __slots__ = ("header", "event", "end")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    header: LogHeader
    event: Event
    end: LogEnd
    def __init__(self, header: _Optional[_Union[LogHeader, _Mapping]] = ..., event: _Optional[_Union[Event, _Mapping]] = ..., end: _Optional[_Union[LogEnd, _Mapping]] = ...) -> None: ...
