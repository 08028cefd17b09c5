// What depends on what in the form: a format has its table sizes, its deals and its settings, a game its options.

const words = (element, of) => element.dataset[of].split(" ");

/** Let a form show what can be chosen together, now and whenever something is chosen. */
export function suit(form) {
  let deals = null; // what a person has chosen, for as long as it can be
  const again = (event) => {
    if (event?.target.name === "deals") deals = event.target.value;
    const game = chosen(form, "ruleset");
    const format = chosenFormat(form, words(game, "sizes"));
    const size = offerSizes(form.elements.table_size, words(game, "sizes"), words(format, "sizes"));
    offerDeals(form, words(format, "deals"), deals);
    showSettings(form, format, size);
    showOptions(form, game.value, size);
  };
  form.addEventListener("change", again);
  again();
}

const chosen = (form, name) => form.querySelector(`input[name="${name}"]:checked`);

/** Take back formats that can't seat the game. */
function chosenFormat(form, sizes) {
  const all = [...form.querySelectorAll("input[name='format']")];
  for (const each of all) each.disabled = !words(each, "sizes").some((size) => sizes.includes(size));
  const found = all.find((each) => each.checked && !each.disabled) ?? all.find((each) => !each.disabled);
  found.checked = true;
  return found;
}

function offerSizes(select, ofGame, ofFormat) {
  for (const each of select.options)
    each.hidden = each.disabled = !(ofGame.includes(each.value) && ofFormat.includes(each.value));
  if (select.selectedOptions[0]?.disabled ?? true)
    select.value = [...select.options].find((each) => !each.disabled).value;
  return select.value;
}

function offerDeals(form, kinds, wanted) {
  const one = kinds.includes(wanted) ? wanted : kinds[0];
  for (const each of form.querySelectorAll("input[name='deals']")) {
    each.disabled = !kinds.includes(each.value);
    each.checked = each.value === one;
  }
}

function showSettings(form, format, size) {
  const settings = words(format, "settings");
  for (const each of form.querySelectorAll("[data-setting]")) {
    const { setting } = each.dataset;
    offer(each, settings.includes(setting) && !(setting === "advance" && size === "2"));
  }
  for (const each of form.querySelectorAll("[data-format]")) each.hidden = each.dataset.format !== format.value;
  const test = form.querySelector("[data-test]");
  offer(test, form.elements.sprt.matches(":enabled:checked"));
}

function showOptions(form, game, size) {
  for (const each of form.querySelectorAll("[data-ruleset]")) offer(each, each.dataset.ruleset === game);
  for (const each of form.querySelectorAll("[data-size]")) each.hidden = each.dataset.size !== size;
}

/** Show a part of the form and send it, or neither. */
function offer(part, isOffered) {
  part.hidden = !isOffered;
  for (const each of part.querySelectorAll("input, select, textarea")) each.disabled = !isOffered;
}
