"""Running a job on AWS: its code is sent, its state machine started, its progress followed, its end told."""
