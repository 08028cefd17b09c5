"""The commands of `slagveld` that run an arena or look after one; organisers' are in `service.organising`."""
