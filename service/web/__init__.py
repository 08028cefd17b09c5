"""The pages: what people look at in a browser. A view calls use cases and renders a template; modules make it live."""
