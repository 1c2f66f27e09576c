import { existsSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { Task } from '../tasks/follow-task.ts'
import { askBeforeReplacing } from './ask-before-replacing.ts'
import { downloadFile } from './download-file.ts'
import { toFileName } from './name-file.ts'

export interface Target {
  /** A file, a directory, or null for a name of the task in the working directory. */
  readonly path: string | null
  readonly isForced: boolean
}

/** Downloads the files of a task and returns their paths. */
export async function saveResults(task: Task, target: Target): Promise<string[]> {
  const urls = urlsOf(task)
  if (urls.length === 0) throw new CommandFailure(EXIT.failed, `The task ${task.id} has no files any more.`)
  const paths = urls.map((url, index) => nameResult(task, url, { target, index, count: urls.length }))
  for (const path of paths) await askBeforeReplacing(path, target)
  for (const [index, url] of urls.entries()) await downloadFile(url, paths[index] ?? '')
  return paths
}

function urlsOf({ result }: Task): string[] {
  const data = Array.isArray(result?.data) ? result.data : []
  return data.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null && 'url' in item && typeof item.url === 'string'
      ? [item.url]
      : [],
  )
}

function nameResult(
  task: Task,
  url: string,
  { target, index, count }: { target: Target; index: number; count: number },
): string {
  const extension = extname(new URL(url).pathname)
  const number = count === 1 ? '' : `-${index + 1}`
  // The parts come from the gateway, and must not lead to another directory.
  const own = toFileName(`${task.task_type}-${task.id.slice(-8)}${number}${extension}`)
  if (target.path === null) return own
  if (existsSync(target.path) && statSync(target.path).isDirectory()) return join(target.path, own)
  if (count === 1) return target.path
  const given = extname(target.path)
  return `${target.path.slice(0, target.path.length - given.length)}${number}${given || extension}`
}
