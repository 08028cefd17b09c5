"""How gunicorn serves the API: greenlets, since thousands of readers may wait or stream at once.

The address to bind and the number of workers come from the command line of whoever starts it.
"""

from service.launch import logs

worker_class = "service.launch.api_worker.ApiWorker"
worker_connections = 4000
timeout = 60
graceful_timeout = 10
keepalive = 75
limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190
control_socket_disable = True
forwarded_allow_ips = ""
"""Nobody: how many proxies are believed is SLAGVELD_PROXIES, and the app's business."""
logconfig_dict = logs.settings("api")
