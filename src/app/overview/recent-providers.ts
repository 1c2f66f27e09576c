import type { ProviderFigures } from '../../telemetry/process-figures.ts'
import type { ProcessReport } from './process-report.ts'

type Figures = ReadonlyMap<string, ProviderFigures>

const SAMPLE_MS = 10_000
export const WINDOW_SECONDS = 300
const SAMPLES_MAX = (WINDOW_SECONDS * 1000) / SAMPLE_MS

/** Keeps the sums of this process for some minutes, to tell what happened in that time. */
export function createRecentProviders(read: () => Figures): {
  list(): ProcessReport['providers']
  close(): void
} {
  const samples: Figures[] = [read()]
  const ticker = setInterval(() => {
    samples.push(read())
    if (samples.length > SAMPLES_MAX) samples.shift()
  }, SAMPLE_MS).unref()
  return {
    list: () => {
      const [oldest = new Map<string, ProviderFigures>()] = samples
      return [...read()]
        .map(([name, now]) => subtract(name, now, oldest.get(name)))
        .filter(({ attempts }) => attempts > 0)
    },
    close: () => clearInterval(ticker),
  }
}

function subtract(
  name: string,
  now: ProviderFigures,
  before: ProviderFigures | undefined,
): ProcessReport['providers'][number] {
  return {
    name,
    attempts: now.attempts - (before?.attempts ?? 0),
    failures: now.failures - (before?.failures ?? 0),
    durations: now.durations.map((count, bucket) => count - (before?.durations[bucket] ?? 0)),
  }
}
