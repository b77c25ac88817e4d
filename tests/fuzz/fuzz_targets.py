"""What is fed with inputs that are nearly right: everything that reads what somebody else has written."""

from __future__ import annotations

import fuzz_cells
import fuzz_rows
import fuzz_specs
import fuzz_store
from fuzz_feeding import Target

TARGETS: dict[str, Target] = fuzz_rows.TARGETS | fuzz_specs.TARGETS | fuzz_cells.TARGETS | fuzz_store.TARGETS
