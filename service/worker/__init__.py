"""What a worker process runs: jobs from its queues, the games in its hands, the sweeper, retention."""
