import { AppError } from '../kernel/app-error.ts'
import { ATTEMPTS_MAX, type ClaimedTask, type TaskOutcome } from '../modules/tasks/tasks.ts'

const RETRY_PAUSE_MS = 2_000

type TaskEnd =
  | ({ readonly status: 'completed' } & TaskOutcome)
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

/** What an attempt means for its task. An `AppError` is for good; after anything else another try may do better. */
export function endOf(
  task: ClaimedTask,
  attempt: { readonly outcome: TaskOutcome } | { readonly error: unknown },
): TaskEnd | 'retry' {
  if ('outcome' in attempt) return { status: 'completed', ...attempt.outcome }
  const { error } = attempt
  if (error instanceof AppError) return { status: 'failed', code: error.shownCode, message: error.message }
  if (task.attempt < ATTEMPTS_MAX) return 'retry'
  return { status: 'failed', code: 'internal_error', message: 'The gateway could not finish the task.' }
}

/** Longer after every try. */
export function retryPauseMs(attempt: number): number {
  return RETRY_PAUSE_MS * 2 ** (attempt - 1)
}
