import { writeFileSync } from 'node:fs'
import type { GatewayClient } from '../api/gateway-client.ts'
import type { ChatRequest, Content } from '../chat/stream-chat.ts'
import { CommandFailure } from '../command-failure.ts'
import { printable } from '../output/printable.ts'
import type { Output } from '../output/terminal.ts'
import { writeTranscript, type Conversation } from './conversation.ts'

export interface ReplState {
  /** A conversation may last longer than an access token. */
  readonly connect: () => Promise<GatewayClient>
  readonly output: Output
  readonly conversation: Conversation
  settings: Omit<ChatRequest, 'messages'>
  costUsd: number
  /** For /retry, also if the answer failed. */
  lastPrompt?: Content
}

type Next =
  | { readonly kind: 'ask'; readonly text: string }
  | { readonly kind: 'retry'; readonly content: Content }
  | { readonly kind: 'done' }
  | { readonly kind: 'leave' }

interface SlashCommand {
  readonly usage: string
  readonly meaning: string
  readonly run: (state: ReplState, argument: string) => Next | Promise<Next>
}

const DONE: Next = { kind: 'done' }

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  model: { usage: '/model [id]', meaning: 'show or change the model', run: changeModel },
  system: {
    usage: '/system [text]',
    meaning: 'show or change the system prompt; - removes it',
    run: changeSystem,
  },
  retry: { usage: '/retry', meaning: 'ask the last prompt again', run: retry },
  clear: { usage: '/clear', meaning: 'forget the conversation', run: clear },
  save: {
    usage: '/save <file>',
    meaning: 'write the conversation to a file, as Markdown or .json',
    run: save,
  },
  help: { usage: '/help', meaning: 'show this', run: help },
  exit: { usage: '/exit', meaning: 'leave, as Ctrl-D does', run: () => ({ kind: 'leave' }) },
}

/** Runs a line that begins with a slash. Any other line is a prompt; two slashes begin a prompt with one. */
export async function runSlashCommand(state: ReplState, line: string): Promise<Next> {
  if (line.startsWith('//')) return { kind: 'ask', text: line.slice(1) }
  const [, name, argument = ''] = /^\/([a-z]*)(?:\s+([\s\S]*))?$/.exec(line) ?? []
  if (name === undefined) return { kind: 'ask', text: line }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    state.output.note(`There is no /${name}. /help lists the commands; // begins a prompt with a slash.`)
    return DONE
  }
  try {
    return await command.run(state, argument.trim())
  } catch (error) {
    if (!(error instanceof CommandFailure) && !isFileError(error)) throw error
    state.output.note(state.output.style('red', printable(error.message)))
    return DONE
  }
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error
}

async function changeModel(state: ReplState, id: string): Promise<Next> {
  if (id !== '') {
    const path = { id }
    const gateway = await state.connect()
    const model = await gateway.call((routes) => routes.GET('/v1/models/{id}', { params: { path } }))
    state.settings = { ...state.settings, model: model.id }
  }
  state.output.note(`The model is ${printable(state.settings.model)}.`)
  return DONE
}

function changeSystem({ conversation, output }: ReplState, text: string): Next {
  if (text !== '') conversation.system = text === '-' ? null : text
  const { system } = conversation
  output.note(system === null ? 'There is no system prompt.' : `The system prompt is: ${printable(system)}`)
  return DONE
}

function retry({ conversation, lastPrompt, output }: ReplState): Next {
  if (lastPrompt === undefined) {
    output.note('Nothing was asked yet.')
    return DONE
  }
  if (conversation.turns.at(-1)?.prompt === lastPrompt) conversation.takeBack()
  return { kind: 'retry', content: lastPrompt }
}

function clear(state: ReplState): Next {
  state.conversation.clear()
  delete state.lastPrompt
  state.output.note('The conversation is forgotten.')
  return DONE
}

function save({ conversation, settings, output }: ReplState, path: string): Next {
  if (path === '') {
    output.note('/save takes the name of a file.')
    return DONE
  }
  // An existing file is not replaced.
  writeFileSync(path, writeTranscript(conversation, { model: settings.model, path }), {
    flag: 'wx',
    mode: 0o600,
  })
  output.note(`Saved to ${printable(path)}.`)
  return DONE
}

function help({ output }: ReplState): Next {
  for (const { usage, meaning } of Object.values(COMMANDS)) output.note(`  ${usage.padEnd(16)} ${meaning}`)
  output.note('  A line that ends with \\ continues on the next one, and """ on the next ones until """.')
  output.note('  Ctrl-C stops an answer.')
  return DONE
}
