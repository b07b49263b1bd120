from mfc_lb.cluster import messages_pb2 as _messages_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClientMessage(_message.Message):
    __slots__ = ("begin", "jobs")
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    begin: Begin
    jobs: Jobs
    def __init__(self, begin: _Optional[_Union[Begin, _Mapping]] = ..., jobs: _Optional[_Union[Jobs, _Mapping]] = ...) -> None: ...

class Begin(_message.Message):
    __slots__ = ("time_scale", "origin_us")
    TIME_SCALE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_US_FIELD_NUMBER: _ClassVar[int]
    time_scale: float
    origin_us: int
    def __init__(self, time_scale: _Optional[float] = ..., origin_us: _Optional[int] = ...) -> None: ...

class Jobs(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[_messages_pb2.Job]
    def __init__(self, jobs: _Optional[_Iterable[_Union[_messages_pb2.Job, _Mapping]]] = ...) -> None: ...

class LogRecords(_message.Message):
    __slots__ = ("records", "failure")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[_messages_pb2.LogRecord]
    failure: str
    def __init__(self, records: _Optional[_Iterable[_Union[_messages_pb2.LogRecord, _Mapping]]] = ..., failure: _Optional[str] = ...) -> None: ...

class WorkerMessage(_message.Message):
    __slots__ = ("registration", "reports")
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    registration: Registration
    reports: Reports
    def __init__(self, registration: _Optional[_Union[Registration, _Mapping]] = ..., reports: _Optional[_Union[Reports, _Mapping]] = ...) -> None: ...

class Registration(_message.Message):
    __slots__ = ("cores", "worker")
    CORES_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    cores: int
    worker: int
    def __init__(self, cores: _Optional[int] = ..., worker: _Optional[int] = ...) -> None: ...

class Reports(_message.Message):
    __slots__ = ("run", "events")
    RUN_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    run: int
    events: _containers.RepeatedCompositeFieldContainer[_messages_pb2.Event]
    def __init__(self, run: _Optional[int] = ..., events: _Optional[_Iterable[_Union[_messages_pb2.Event, _Mapping]]] = ...) -> None: ...

class Order(_message.Message):
    __slots__ = ("place", "new_run", "jobs", "failure")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    NEW_RUN_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    place: Place
    new_run: NewRun
    jobs: Jobs
    failure: str
    def __init__(self, place: _Optional[_Union[Place, _Mapping]] = ..., new_run: _Optional[_Union[NewRun, _Mapping]] = ..., jobs: _Optional[_Union[Jobs, _Mapping]] = ..., failure: _Optional[str] = ...) -> None: ...

class Place(_message.Message):
    __slots__ = ("worker",)
    WORKER_FIELD_NUMBER: _ClassVar[int]
    worker: int
    def __init__(self, worker: _Optional[int] = ...) -> None: ...

class NewRun(_message.Message):
    __slots__ = ("run", "time_scale", "capacity")
    RUN_FIELD_NUMBER: _ClassVar[int]
    TIME_SCALE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    run: int
    time_scale: float
    capacity: int
    def __init__(self, run: _Optional[int] = ..., time_scale: _Optional[float] = ..., capacity: _Optional[int] = ...) -> None: ...
