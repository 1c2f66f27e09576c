import { rmSync } from 'node:fs'
import type { CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { requireConsent } from '../input/confirm.ts'
import { printable } from '../output/printable.ts'
import { backupPath, readRecord, removeRecord, writeRecord } from './connection-record.ts'
import { maskSecrets } from './mask-secrets.ts'
import type { FileTool, ToolSettings } from './tools.ts'
import { unifiedDiff } from './unified-diff.ts'
import { digest, readUserFile, removeMadeDirectories, writeUserFile, type UserFile } from './user-file.ts'

const KEY_FILE_MODE = 0o600

interface Change {
  readonly name: string
  readonly tool: FileTool
  readonly settings: ToolSettings
}

/** Writes the gateway into the configuration of a tool, after the difference was shown and agreed to. */
export async function connectTool(
  { output, isJson, printJson }: CommandContext,
  { name, tool, settings }: Change,
  consent: { isGiven: boolean; isTrial: boolean },
): Promise<void> {
  const path = tool.path(process.env)
  const file = readUserFile(path)
  const before = file.content?.toString('utf8') ?? ''
  const after = await editFile(tool, file.path, { before, settings })
  const lines = unifiedDiff(before, after).map((line) => maskSecrets(printable(line), settings.apiKey))
  const isChanged = lines.length > 0
  if (isChanged) showDifference(output, file, lines)
  else output.note(`${file.path} is already as it should be.`)
  if (isChanged && !consent.isTrial) {
    await requireConsent(`Write ${file.path}?`, consent.isGiven)
    requireUnchanged(file)
    apply(name, file, Buffer.from(after))
  }
  if (isJson) return printJson({ tool: name, path: file.path, is_changed: isChanged && !consent.isTrial })
  if (consent.isTrial) return
  if (isChanged)
    output.line(`${tool.title} uses ${settings.baseUrl} now. "parkway connect ${name} --undo" takes it back.`)
  for (const note of tool.notes(after, settings)) output.note(note)
}

/** Restores the file as it was before `connectTool`, byte for byte. */
export function disconnectTool(
  { output, isJson, printJson }: CommandContext,
  { name, title, isForced }: { name: string; title: string; isForced: boolean },
): void {
  const record = readRecord(name)
  if (record === null) throw new CommandFailure(EXIT.notFound, `${title} was not connected from here.`)
  const { content } = readUserFile(record.path)
  const isUntouched = content !== null && digest(content) === record.afterSha256
  if (!isUntouched && !isForced)
    throw new CommandFailure(
      EXIT.failed,
      `${record.path} was changed since. Undoing would lose that.`,
      `Undo anyway with --force${record.before === null ? '' : `, or take what you need from ${backupPath(name)}`}.`,
    )
  if (record.before === null) {
    rmSync(record.path, { force: true })
    if (record.madeDirectory !== null) removeMadeDirectories(record.path, record.madeDirectory)
  } else writeUserFile(record.path, record.before, record.mode ?? KEY_FILE_MODE)
  removeRecord(name)
  if (isJson) return printJson({ tool: name, path: record.path, is_changed: true })
  output.line(`${record.path} is as it was before${record.before === null ? ': removed' : ''}.`)
}

async function editFile(
  tool: FileTool,
  path: string,
  { before, settings }: { before: string; settings: ToolSettings },
): Promise<string> {
  try {
    return await tool.edit(before, settings)
  } catch (error) {
    if (!(error instanceof Error) || !/^Not(Json|Toml|Yaml)$/.test(error.name)) throw error
    throw new CommandFailure(EXIT.failed, `${path} cannot be edited: ${error.message}. Nothing was changed.`)
  }
}

function showDifference(
  output: CommandContext['output'],
  { path, content }: UserFile,
  lines: readonly string[],
): void {
  output.note(`--- ${content === null ? '/dev/null' : path}`)
  output.note(`+++ ${path}`)
  for (const line of lines) output.note(line)
}

/** Checks the file again, because the tool may have written it while the user was answering. */
function requireUnchanged({ path, content }: UserFile): void {
  const now = readUserFile(path).content
  if (now === content || (now !== null && content !== null && now.equals(content))) return
  throw new CommandFailure(EXIT.failed, `${path} was changed meanwhile. Nothing was written.`, 'Try again.')
}

function apply(name: string, file: UserFile, after: Buffer): void {
  const record = readRecord(name)
  // A second `connect` keeps the backup of the first, unless the file was changed in between.
  const isOurs =
    record !== null &&
    record.path === file.path &&
    file.content !== null &&
    digest(file.content) === record.afterSha256
  const original = isOurs ? { path: file.path, content: record.before, mode: record.mode } : file
  const sha256 = digest(after)
  // The copy is stored before the file is written, so that a crash between the two loses nothing.
  writeRecord(name, original, { sha256, madeDirectory: record?.madeDirectory ?? null })
  const made = writeUserFile(file.path, after, KEY_FILE_MODE)
  if (made !== null) writeRecord(name, original, { sha256, madeDirectory: made })
}
