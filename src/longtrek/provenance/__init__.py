"""What a finished run says of itself: checksums, a Workflow Run RO-Crate, a bill of materials of each environment."""
