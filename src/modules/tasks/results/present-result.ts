import { isRecord } from '../../../kernel/is-record.ts'
import type { Task } from '../task.ts'

/** Returns the task with URLs instead of media ids. The URLs expire, so they are created at every read. */
export function presentResult(task: Task, addressOf: (mediaId: string) => string): Task {
  if (!isRecord(task.result)) return task
  const { data } = task.result
  const files = Array.isArray(data) ? data.map((file) => withAddress(file, addressOf)) : data
  const first = Array.isArray(files) && isRecord(files[0]) ? files[0]['url'] : undefined
  const addresses =
    typeof first === 'string' ? { url: first, ...(task.type === 'video' && { video_url: first }) } : {}
  return { ...task, result: { ...task.result, data: files, ...addresses } }
}

function withAddress(file: unknown, addressOf: (mediaId: string) => string): unknown {
  if (!isRecord(file) || typeof file['media_id'] !== 'string') return file
  const { media_id: mediaId, ...rest } = file
  return { url: addressOf(mediaId), ...rest }
}

/** Returns the ids of all files of a result. */
export function listMediaIds(result: unknown): string[] {
  if (!isRecord(result) || !Array.isArray(result['data'])) return []
  return result['data'].flatMap((file: unknown) =>
    isRecord(file) && typeof file['media_id'] === 'string' ? [file['media_id']] : [],
  )
}
