import { createAnswerPrinter, describeUsage } from '../chat/answer-printer.ts'
import { attach, type Attachments } from '../chat/attachments.ts'
import { streamChat, type ChatRequest, type Content } from '../chat/stream-chat.ts'
import type { CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { interruptible } from '../interruption.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printable } from '../output/printable.ts'
import { createConversation } from './conversation.ts'
import { addToHistory, historyPath, readHistory } from './history-file.ts'
import { openKeyboard, type Keyboard } from './keyboard.ts'
import { createPastedTexts } from './pasted-text.ts'
import { readPrompt } from './read-prompt.ts'
import { runSlashCommand, type ReplState } from './slash-commands.ts'

interface ConverseOptions {
  readonly settings: Omit<ChatRequest, 'messages'>
  readonly system: string | null
  /** Sent with the first prompt. */
  readonly attached: Attachments
}

const NOTHING: Attachments = { texts: [], images: [] }
const PROMPT = '> '

/** Talks with a model until the person leaves. */
export async function converse(context: CommandContext, options: ConverseOptions): Promise<void> {
  const { output } = context
  // Without a profile or a key, the conversation does not begin.
  context.connect()
  const state: ReplState = {
    connect: context.freshConnect,
    output,
    conversation: createConversation(options.system),
    settings: options.settings,
    costUsd: 0,
  }
  let attached = options.attached
  const pasted = createPastedTexts()
  const path = historyPath(process.env)
  const keyboard = openKeyboard(process.stdin, process.stdout, (text) => pasted.add(text))
  output.note(
    output.style('dim', `${printable(state.settings.model)}. /help lists the commands, Ctrl-D leaves.`),
  )
  try {
    for (let wasInterrupted = false; ;) {
      const entry = await readPrompt({
        keyboard,
        output: process.stdout,
        pasted,
        history: readHistory(path),
        prompt: PROMPT,
      })
      if (entry.kind === 'end') return output.note('')
      if (entry.kind === 'interrupt') {
        if (wasInterrupted) throw new CommandFailure(EXIT.interrupted, 'Interrupted.')
        wasInterrupted = true
        output.note(output.style('dim', 'Ctrl-C again leaves.'))
        continue
      }
      wasInterrupted = false
      if (entry.text === '') continue
      remember(path, entry.text)
      const next = await runSlashCommand(state, entry.text)
      if (next.kind === 'leave') return
      if (next.kind === 'done') continue
      const content = next.kind === 'retry' ? next.content : attach(next.text, attached)
      attached = NOTHING
      wasInterrupted = !(await answer(state, content, keyboard))
    }
  } finally {
    keyboard.close()
  }
}

/** A history that cannot be written must not end the conversation. */
function remember(path: string, text: string): void {
  try {
    addToHistory(path, text)
  } catch {
    // Read-only home directories exist.
  }
}

/** Asks the model. Returns false if the person stopped the answer: what arrived stays in the conversation. */
async function answer(state: ReplState, content: Content, keyboard: Keyboard): Promise<boolean> {
  const { output, conversation, settings } = state
  const printer = createAnswerPrinter(output)
  let text = ''
  const sink = {
    text(part: string): void {
      text += part
      printer.text(part)
    },
    reasoning: (part: string) => printer.reasoning(part),
  }
  let isStopped = false
  try {
    await interruptible(async (signal) => {
      // In raw mode Ctrl-C is a key and no signal.
      signal.addEventListener('abort', () => (isStopped = true))
      keyboard.watchInterrupt(() => process.kill(process.pid, 'SIGINT'))
      const request = { ...settings, messages: conversation.messagesFor(content) }
      const end = await streamChat(await state.connect(), request, { sink, signal })
      printer.end()
      state.costUsd += end.usage?.cost_usd ?? 0
      const usage = describeUsage(end)
      if (usage !== null) output.note(output.style('dim', `${usage} (${formatUsd(state.costUsd)} in all)`))
    })
  } catch (error) {
    printer.end()
    if (!isStopped && !(error instanceof CommandFailure)) throw error
    output.note(
      output.style(
        isStopped ? 'dim' : 'red',
        isStopped ? 'Stopped. Ctrl-C again leaves.' : describeFailure(error as CommandFailure),
      ),
    )
  } finally {
    keyboard.watchInterrupt(null)
  }
  state.lastPrompt = content
  if (text !== '') conversation.add({ prompt: content, answer: text })
  return !isStopped
}

function describeFailure({ message, advice }: CommandFailure): string {
  return printable(advice === null ? message : `${message} ${advice}`)
}
