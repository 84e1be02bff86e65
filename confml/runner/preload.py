"""First module of the fork server: imports make many objects and free few, so nothing is collected."""

import gc

gc.disable()  # `begin_worker` enables it
