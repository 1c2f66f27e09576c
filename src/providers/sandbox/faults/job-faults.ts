import type { DirectiveOptions } from '../request/directive-options.ts'

/** Faults of work that was accepted and runs as a job. */
export type JobFault =
  | { kind: 'fail'; atPercent: number; status: number; code: string | null }
  /** The upstream no longer knows the job. */
  | { kind: 'lost'; atPercent: number }
  | { kind: 'endless' }
  /** Polls fail, a limited number of times or always, while the job continues. */
  | { kind: 'check'; status: number; attemptsMax: number | null }

interface JobDirective {
  readonly jobDurationMs?: number
  readonly jobFault?: JobFault
}

const HOUR_MS = 3_600_000

/** Returns null for a directive that is malformed or not about jobs. */
export function readJobDirective(name: string, options: DirectiveOptions): JobDirective | null {
  return READERS.get(name)?.(options) ?? null
}

const READERS = new Map(
  Object.entries<(options: DirectiveOptions) => JobDirective | null>({
    job: (options) => {
      const jobDurationMs = options.integer('ms', 0, HOUR_MS)
      return jobDurationMs === null ? null : { jobDurationMs }
    },
    'job-fail': (options) => ({
      jobFault: {
        kind: 'fail',
        atPercent: options.integer('percent', 0, 100) ?? 50,
        status: options.integer('status', 400, 599) ?? 500,
        code: options.word('code'),
      },
    }),
    'job-lost': (options) => ({
      jobFault: { kind: 'lost', atPercent: options.integer('percent', 0, 100) ?? 50 },
    }),
    'job-endless': () => ({ jobFault: { kind: 'endless' } }),
    'job-check': (options) => ({
      jobFault: {
        kind: 'check',
        status: options.integer('status', 400, 599) ?? 503,
        attemptsMax: options.integer('times', 1, 100),
      },
    }),
  }),
)
