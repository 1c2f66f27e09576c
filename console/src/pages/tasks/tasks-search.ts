import type { Task } from '../../api/tasks.ts'

export const STATUSES = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const

/** What each type of task makes, in words. */
export const TYPE_LABELS: Readonly<Record<Task['task_type'], string>> = {
  image: 'Images',
  edit: 'Edits',
  upscale: 'Upscaling',
  bg_remove: 'Background removal',
  video: 'Videos',
  music: 'Music',
  tts: 'Speech',
  stt: 'Transcriptions',
  response: 'Background responses',
}

export interface TasksSearch {
  readonly view?: 'list' | undefined
  readonly status?: Task['status'] | undefined
  readonly type?: Task['task_type'] | undefined
  readonly model?: string | undefined
  /** The id of the task that is open. */
  readonly task?: string | undefined
}

/** Takes the parameters that this page knows. */
export function readTasksSearch(search: Record<string, unknown>): TasksSearch {
  const { view, status, type, model, task } = search
  return {
    view: view === 'list' ? view : undefined,
    status: STATUSES.find((known) => known === status),
    type: TASK_TYPES.find((known) => known === type),
    model: typeof model === 'string' && model !== '' ? model : undefined,
    task: typeof task === 'string' ? task : undefined,
  }
}

const TASK_TYPES = [
  'image',
  'edit',
  'upscale',
  'bg_remove',
  'video',
  'music',
  'tts',
  'stt',
  'response',
] as const satisfies readonly Task['task_type'][]
