import type { Registry } from 'prom-client'

export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** A trace as an example of what a bucket counted. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string }
  readonly value: number
  /** In seconds since the Unix epoch. */
  readonly timestamp: number
}

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** Whether a scraper asks for this format, which alone has exemplars. */
export function acceptsOpenMetrics(accept: string): boolean {
  return accept.includes('application/openmetrics-text')
}

/** Writes metrics in the format of OpenMetrics. */
export function formatOpenMetrics(snapshot: MetricsSnapshot): string {
  const lines: string[] = []
  for (const metric of snapshot) {
    // A counter is named without its ending here, and its samples with it.
    const type = String(metric.type)
    const family = type === 'counter' ? metric.name.replace(/_total$/, '') : metric.name
    lines.push(`# TYPE ${family} ${type}`, `# HELP ${family} ${escapeText(metric.help)}`)
    for (const sample of metric.values as readonly Sample[]) {
      const { exemplar } = sample
      const example =
        exemplar === undefined
          ? ''
          : ` # ${formatLabels(exemplar.labelSet)} ${exemplar.value} ${exemplar.timestamp}`
      const labels = formatLabels(sample.labels)
      lines.push(
        `${sample.metricName ?? metric.name}${labels === '{}' ? '' : labels} ${sample.value}${example}`,
      )
    }
  }
  return `${lines.join('\n')}\n# EOF\n`
}

interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly exemplar?: Exemplar
}

function formatLabels(labels: Readonly<Record<string, string | number>>): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeText(String(value)).replaceAll('"', '\\"')}"`)
    .join(',')}}`
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
