import type { DirectiveOptions } from './directive-options.ts'

/** What goes wrong with work that was accepted and goes on by a job. */
export type JobFault =
  | { kind: 'fail'; atPercent: number; status: number; code: string | null }
  /** The upstream does not know the job any more. */
  | { kind: 'lost'; atPercent: number }
  | { kind: 'endless' }
  /** Asking for the job fails, so many times or always; the job itself goes on. */
  | { kind: 'check'; status: number; attemptsMax: number | null }

interface JobDirective {
  readonly jobDurationMs?: number
  readonly jobFault?: JobFault
}

const HOUR_MS = 3_600_000

/** Null for a directive that is not about jobs, or malformed. */
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
