import { createWriteStream, existsSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { Task } from './follow-task.ts'

export interface Target {
  /** A file, a directory, or null for a name of the task in the working directory. */
  readonly path: string | null
  readonly isForced: boolean
}

const TRIES_MAX = 5

/** Downloads the files of a task and returns their paths. */
export async function saveResults(task: Task, target: Target): Promise<string[]> {
  const urls = urlsOf(task)
  if (urls.length === 0) throw new CommandFailure(EXIT.failed, `The task ${task.id} has no files any more.`)
  const paths = urls.map((url, index) => nameFile(task, url, { target, index, count: urls.length }))
  for (const path of paths) requireFree(path, target)
  for (const [index, url] of urls.entries()) await download(url, paths[index] ?? '')
  return paths
}

/** Refuses to replace a file before anything was paid for. */
export function requireFree(path: string, { isForced }: Target): void {
  if (isForced || !existsSync(path)) return
  throw new CommandFailure(
    EXIT.failed,
    `${path} exists.`,
    'Choose another name with -o, or replace it with --force.',
  )
}

function urlsOf({ result }: Task): string[] {
  const data = Array.isArray(result?.data) ? result.data : []
  return data.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null && 'url' in item && typeof item.url === 'string'
      ? [item.url]
      : [],
  )
}

function nameFile(
  task: Task,
  url: string,
  { target, index, count }: { target: Target; index: number; count: number },
): string {
  const extension = extname(new URL(url).pathname)
  const number = count === 1 ? '' : `-${index + 1}`
  // The parts come from the gateway, and must not lead to another directory.
  const own = `${task.task_type}-${task.id.slice(-8)}${number}${extension}`.replaceAll(/[^\w.-]/g, '_')
  if (target.path === null) return own
  if (existsSync(target.path) && statSync(target.path).isDirectory()) return join(target.path, own)
  if (count === 1) return target.path
  const given = extname(target.path)
  return `${target.path.slice(0, target.path.length - given.length)}${number}${given || extension}`
}

/** Downloads to a file beside the target and renames it when it is whole. A cut connection is continued where it ended. */
async function download(url: string, path: string): Promise<void> {
  const part = `${path}.part`
  await rm(part, { force: true })
  for (let attempt = 1; ; attempt += 1) {
    try {
      await downloadRest(url, part)
      await rename(part, path)
      return
    } catch (error) {
      if (attempt < TRIES_MAX && error instanceof TypeError) continue
      if (error instanceof CommandFailure) throw error
      throw new CommandFailure(EXIT.failed, `${path} could not be saved: ${(error as Error).message}`)
    }
  }
}

async function downloadRest(url: string, part: string): Promise<void> {
  const begun = existsSync(part) ? statSync(part).size : 0
  const response = await fetch(url, begun === 0 ? {} : { headers: { range: `bytes=${begun}-` } })
  if (!response.ok || response.body === null)
    throw new CommandFailure(EXIT.failed, `The file could not be fetched: status ${response.status}.`)
  const flags = response.status === 206 ? 'a' : 'w'
  await pipeline(Readable.fromWeb(response.body), createWriteStream(part, { flags }))
}
