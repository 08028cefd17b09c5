// Shows the specification by Swagger UI, and lets people try it. What the page itself says isn't said again.

const PARTS = ["SvgAssets", "errors", "AuthorizeBtnContainer", "operations", "Models"];

/** Lay out what a page of ours needs of Swagger UI: its own layout is a page of its own, with a <main> and a title. */
function parts({ React }) {
  const Parts = ({ getComponent }) =>
    React.createElement(
      "div",
      { className: "swagger-ui" },
      PARTS.map((name) => React.createElement(getComponent(name, true), { key: name })),
    );
  return { components: { Parts } };
}

SwaggerUIBundle({
  url: document.getElementById("swagger-ui").dataset.specification,
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [parts],
  layout: "Parts",
});
