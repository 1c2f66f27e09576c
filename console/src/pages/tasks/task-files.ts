import type { Task } from '../../api/tasks.ts'

type FileKind = 'image' | 'video' | 'audio'

export interface TaskFile {
  readonly url: string
  readonly kind: FileKind
}

const KINDS: Readonly<Partial<Record<Task['task_type'], FileKind>>> = {
  image: 'image',
  edit: 'image',
  upscale: 'image',
  bg_remove: 'image',
  video: 'video',
  music: 'audio',
  tts: 'audio',
}

/** Returns the files that a task has made. Their addresses are of this gateway. */
export function filesOf({ result, task_type: type }: Task): TaskFile[] {
  const kind = KINDS[type]
  const data = result?.['data']
  if (kind === undefined || !Array.isArray(data)) return []
  return data.flatMap((item: unknown) => {
    const url: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'url') : undefined
    return typeof url === 'string' ? [{ url, kind }] : []
  })
}
