import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { renderDashboards } from './render-dashboards.ts'

const ROOT = join(import.meta.dirname, '../..')
const GRAFANA = join(ROOT, 'deploy/grafana')
const PROMETHEUS = join(ROOT, 'deploy/prometheus')

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: {
    readonly summary: string
    readonly description: string
    readonly runbook_url: string
  }
}

const rules: Rule[] = parse(readFileSync(join(PROMETHEUS, 'parkway.rules.yaml'), 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
)
const alerts = rules.filter(({ alert }) => alert !== undefined)
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))

/** What the gateway measures: the labels of each name. */
const measured = listMeasured()

function listMeasured(): Map<string, ReadonlySet<string>> {
  const registry = new Registry()
  createMetrics({ registry })
  const found = new Map<string, ReadonlySet<string>>()
  for (const metric of registry.getMetricsAsArray()) {
    const {
      name,
      type,
      labelNames = [],
    } = metric as unknown as {
      name: string
      type?: string
      labelNames?: readonly string[]
    }
    found.set(name, new Set(labelNames))
    if (type !== 'histogram') continue
    found.set(`${name}_bucket`, new Set([...labelNames, 'le']))
    for (const part of ['sum', 'count']) found.set(`${name}_${part}`, new Set(labelNames))
  }
  // Prometheus's own.
  return found.set('up', new Set())
}

/** Labels that Prometheus adds to everything. */
const ADDED = new Set(['job', 'instance'])
const NAME = /(?<![\w:"$.])(up|(?:parkway|gen_ai_client|process|nodejs)[\w:]*)\b(?!\s*=)(?:\{([^}]*)\})?/g

/** Returns what is wrong with an expression: a metric that nobody measures, or a label that its metrics do not have. */
function findUnknown(expression: string): string[] {
  const withoutGroups = expression.replace(/\b(?:by|without)\s*\([^)]*\)/g, '')
  const used = [...withoutGroups.matchAll(NAME)].map(([, name = '', matchers = '']) => ({ name, matchers }))
  const known = new Set(ADDED)
  const problems: string[] = []
  for (const { name, matchers } of used) {
    if (recorded.has(name)) {
      const rule = rules.find(({ record }) => record === name)
      for (const label of listGroups(rule?.expr ?? '')) known.add(label)
      continue
    }
    const labels = measured.get(name)
    if (labels === undefined) problems.push(`${name} is not measured`)
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (labels?.has(label) !== true && !ADDED.has(label)) problems.push(`${name} has no ${label}`)
    for (const label of labels ?? []) known.add(label)
  }
  if (used.length === 0) problems.push('no metric')
  return [...problems, ...listGroups(expression).flatMap((label) => (known.has(label) ? [] : `no ${label}`))]
}

function listGroups(expression: string): string[] {
  return [...expression.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  )
}

describe('the rules of Prometheus', () => {
  test.each(rules.map((rule) => [rule.alert ?? rule.record ?? '', rule] as const))(
    '%s uses only metrics and labels that exist',
    (_name, { expr }) => {
      expect(findUnknown(expr)).toEqual([])
    },
  )

  test('a metric or a label that does not exist is found', () => {
    expect(findUnknown('rate(parkway_requests_total{rout="x"}[5m])')).toEqual([
      'parkway_requests_total has no rout',
    ])
    expect(findUnknown('parkway_request_total > 1')).toEqual(['parkway_request_total is not measured'])
    expect(findUnknown('sum by (modell) (parkway_tokens_total)')).toEqual(['no modell'])
  })

  test('every alert says how bad it is, what happens, and has a runbook, and no runbook is without an alert', () => {
    const document = readFileSync(join(ROOT, 'docs/runbooks.md'), 'utf8')
    const anchors = [...document.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(/\s/g, '-'),
    )
    const named = alerts.map(({ alert, labels, annotations }) => {
      expect([alert, labels?.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning|info)$/)])
      expect(annotations?.summary).toMatch(/^[A-Z]/)
      expect(annotations?.description).toMatch(/\.$/)
      return /^docs\/runbooks\.md#([\w-]+)$/.exec(annotations?.runbook_url ?? '')?.[1]
    })
    expect(new Set(named)).toEqual(new Set(anchors))
    for (const { alert } of alerts) expect(document).toContain(`\`${alert}\``)
  })
})

describe('the dashboards of Grafana', () => {
  const written = renderDashboards()

  test('are the files of deploy/grafana', () => {
    if (process.env['WRITE_DASHBOARDS'] === '1')
      for (const [name, text] of written) writeFileSync(join(GRAFANA, name), text)
    const files = readdirSync(GRAFANA).filter((name) => name.endsWith('.json'))
    expect(files.toSorted()).toEqual([...written.keys()].toSorted())
    for (const name of files)
      expect(JSON.parse(readFileSync(join(GRAFANA, name), 'utf8'))).toEqual(
        JSON.parse(written.get(name) ?? ''),
      )
  })

  test.each([...written])('%s uses only metrics and labels that exist', (_name, text) => {
    const { panels } = JSON.parse(text) as {
      panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
    }
    expect(panels.length).toBeGreaterThan(5)
    for (const { title, targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        expect([title, findUnknown(expr)]).toEqual([title, []])
        // A legend names what the series are grouped by.
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
        const grouped = new Set(
          listGroups(expr).concat(expr.includes('parkway:provider_errors') ? ['provider'] : []),
        )
        expect([title, shown.filter((label) => !grouped.has(label ?? ''))]).toEqual([title, []])
      }
    }
  })
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe.skipIf(!hasPromtool)('promtool', () => {
  const run = (...words: string[]) =>
    execFileSync('promtool', words, { cwd: PROMETHEUS, encoding: 'utf8', stdio: 'pipe' })

  test('accepts the rules', () => {
    expect(run('check', 'rules', 'parkway.rules.yaml')).toContain('SUCCESS')
  })

  test('finds that the alerts fire when they should', () => {
    expect(run('test', 'rules', 'parkway.rules.test.yaml')).toContain('SUCCESS')
  })
})
