// Shows the specification by Swagger UI, and lets people try it.

window.addEventListener("load", () => {
  window.ui = SwaggerUIBundle({
    url: document.body.dataset.specification,
    dom_id: "#swagger-ui",
    deepLinking: true,
    docExpansion: "none",
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
  });
});
