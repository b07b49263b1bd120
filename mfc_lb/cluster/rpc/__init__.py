"""The live cluster: worker, balancer and client as processes that talk gRPC.

`balancer`, `worker` and `client` are the three sides; `loopback` runs all of them on this machine.
`run` and `cores` are what a balancer and a worker do, without any network.
"""

import os

# What gRPC has to say of connections that end, our errors say.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
