// What a dashboard of ours may be: Grafana's own types, put together so that every part is checked. Its type of a
// dashboard leaves options and targets open, and an enum takes no text.
import type {
  Dashboard,
  DataQuery,
  FieldColor,
  FieldConfig,
  MatcherConfig,
  Panel,
  RowPanel,
  TableFieldOptions,
  ThresholdsConfig,
  VariableModel,
} from "@grafana/schema";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type { Options as TableOptions } from "@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen";
import type {
  FieldConfig as ChartField,
  Options as ChartOptions,
} from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

/** The same with texts and numbers for enums, as JSON has them. */
type Plain<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined
    ? T
    : T extends Array<infer U>
      ? Plain<U>[]
      : T extends object
        ? { [K in keyof T]: Plain<T[K]> }
        : T;

/** A query of the Prometheus data source (`PromQuery` of @grafana/prometheus). */
interface Query extends Pick<DataQuery, "refId"> {
  datasource: { type: "prometheus"; uid: string };
  editorMode: "code" | "builder";
  expr: string;
  format?: "time_series" | "table" | "heatmap";
  instant?: boolean;
  legendFormat?: string;
  range?: boolean;
}

type Custom<C> = { [K in keyof C & string]-?: { id: `custom.${K}`; value: C[K] } }[keyof C & string];
type Property<C> =
  | Custom<C>
  | { id: "color"; value: FieldColor }
  | { id: "links"; value: { targetBlank: boolean; title: string; url: string }[] }
  | { id: "thresholds"; value: ThresholdsConfig }
  | { id: "unit"; value: string };

interface Fields<C> {
  defaults: Omit<FieldConfig, "custom"> & { custom?: Partial<C> };
  overrides: { matcher: Omit<MatcherConfig, "options"> & { id: "byName"; options: string }; properties: Property<C>[] }[];
}

type Transformation =
  | { id: "merge"; options: Record<string, never> }
  | {
      id: "organize";
      options: {
        excludeByName: Record<string, boolean>;
        indexByName: Record<string, number>;
        renameByName: Record<string, string>;
      };
    };

type Shown = "description" | "gridPos" | "id" | "title";
type Kind<T extends string, O, C> = Omit<Panel, "fieldConfig" | "options" | "targets" | "transformations" | "type"> &
  Required<Pick<Panel, Shown>> & {
    datasource: { type: "prometheus"; uid: string };
    fieldConfig: Fields<C>;
    options: O;
    targets: Query[];
    transformations?: Transformation[];
    type: T;
  };

type Any =
  | Kind<"stat", StatOptions, Record<string, never>>
  | Kind<"table", TableOptions, TableFieldOptions>
  | Kind<"timeseries", ChartOptions, ChartField>;
type Row = Omit<RowPanel, "panels"> & Required<Pick<RowPanel, "gridPos">> & { panels: Any[] };
type Whole = Omit<Dashboard, "panels" | "templating"> &
  Required<Pick<Dashboard, "links" | "refresh" | "tags" | "time" | "title" | "uid">> & {
    panels: (Any | Row)[];
    templating: { list: VariableModel[] };
  };

export type Board = Plain<Whole>;
