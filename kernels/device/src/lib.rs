//! Devices: facts of the machine, and of machines that are not here.
