"""Work traces through a centralised load balancer: a cluster of workers, simulated or real.

Importing this package needs neither grpc nor protobuf; the event log and the live cluster do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
