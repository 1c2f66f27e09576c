import { DASHBOARDS, type DashboardPlan, type PanelPlan } from './dashboards.ts'

const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const COLUMNS = 24
const NUMBER = { w: 4, h: 4 }
const GRAPH = { w: 12, h: 8 }

/** Returns the files of `deploy/grafana/` by their names. */
export function renderDashboards(): Map<string, string> {
  return new Map(
    Object.entries(DASHBOARDS).map(([name, plan]) => [
      `${name}.json`,
      `${JSON.stringify(render(name, plan), null, 2)}\n`,
    ]),
  )
}

function render(name: string, { title, panels }: DashboardPlan): object {
  return {
    uid: `parkway-${name}`,
    title,
    tags: ['parkway'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels: place(panels).map(({ panel, gridPos }, index) => ({
      id: index + 1,
      title: panel.title,
      type: panel.isNumber === true ? 'stat' : 'timeseries',
      datasource: SOURCE,
      gridPos,
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      targets: panel.lines.map(([expr, legendFormat], line) => ({
        refId: String.fromCodePoint(65 + line),
        datasource: SOURCE,
        expr,
        legendFormat,
        exemplar: expr.includes('_bucket'),
      })),
    })),
  }
}

/** From left to right, and below what is full. */
function place(panels: readonly PanelPlan[]) {
  let x = 0
  let y = 0
  let rowHeight = 0
  return panels.map((panel) => {
    const { w, h } = panel.isNumber === true ? NUMBER : GRAPH
    if (x + w > COLUMNS || (rowHeight !== 0 && h !== rowHeight)) {
      x = 0
      y += rowHeight
    }
    rowHeight = h
    const gridPos = { x, y, w, h }
    x += w
    return { panel, gridPos }
  })
}
