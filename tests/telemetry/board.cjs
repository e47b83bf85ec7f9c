// Asks Grafana's own library what it makes of panels: which columns a table has, and whether it knows every unit, colour
// mode, reduction and field that a panel names. Reads [{panel, frames}] from standard input, writes what it found.
"use strict";
globalThis.navigator = { language: "en", languages: ["en"] };
const data = require("@grafana/data");
const { firstValueFrom } = require("rxjs");
globalThis.window = {}; // Only now: libraries that find one while they load take this for a browser.

const transformers = [...new Set(Object.values(data.standardTransformers))];
data.standardTransformersRegistry.setInit(() =>
  transformers.map((each) => ({ id: each.id, name: each.name, transformation: async () => each })),
);
const units = new Set(data.getValueFormats().flatMap((category) => category.submenu.map((unit) => unit.value)));

function* unknown(panel, frames) {
  const { defaults, overrides } = panel.fieldConfig;
  const properties = overrides.flatMap((each) => each.properties);
  const valued = (id) => properties.filter((each) => each.id === id).map((each) => each.value);
  for (const unit of [defaults.unit, ...valued("unit")]) {
    if (unit !== undefined && !units.has(unit)) yield `unit ${unit}`;
  }
  for (const color of [defaults.color, ...valued("color")]) {
    if (color !== undefined && !data.fieldColorModeRegistry.getIfExists(color.mode)) yield `colour mode ${color.mode}`;
  }
  for (const id of panel.options.reduceOptions?.calcs ?? []) {
    if (!data.fieldReducers.getIfExists(id)) yield `reduction ${id}`;
  }
  for (const { id } of panel.transformations ?? []) {
    if (!data.standardTransformersRegistry.getIfExists(id)) yield `transformation ${id}`;
  }
  for (const { matcher } of overrides) {
    const matches = data.fieldMatchers.get(matcher.id).get(matcher.options);
    if (!frames.some((frame) => frame.fields.some((field) => matches(field, frame, frames)))) {
      yield `field ${matcher.options}`;
    }
  }
}

async function answer({ panel, frames }) {
  const made = frames.map((frame) => data.toDataFrame(frame));
  const found = await firstValueFrom(data.transformDataFrame(panel.transformations ?? [], made));
  const columns = found.flatMap((frame) =>
    frame.fields.map((field) => [data.getFieldDisplayName(field, frame, found), [...field.values]]),
  );
  return { title: panel.title, columns, unknown: [...unknown(panel, found)] };
}

(async () => {
  const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify(await Promise.all(asked.map(answer))));
})();
