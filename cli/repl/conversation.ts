import type { ChatMessage, Content } from '../chat/stream-chat.ts'

/** A conversation with a model. */
export interface Conversation {
  system: string | null
  readonly turns: readonly Turn[]
  /** The messages to send with a new prompt. */
  messagesFor(content: Content): ChatMessage[]
  add(turn: Turn): void
  /** Takes the last turn back and returns its prompt. Returns null if there is none. */
  takeBack(): Content | null
  clear(): void
}

interface Turn {
  readonly prompt: Content
  readonly answer: string
}

export function createConversation(system: string | null): Conversation {
  let turns: Turn[] = []
  return {
    system,
    get turns() {
      return turns
    },
    messagesFor(content) {
      return [
        ...(this.system === null ? [] : [{ role: 'system' as const, content: this.system }]),
        ...turns.flatMap(({ prompt, answer }) => [
          { role: 'user' as const, content: prompt },
          // A turn without an answer would make two messages of the user follow each other, which some models refuse.
          { role: 'assistant' as const, content: answer },
        ]),
        { role: 'user', content },
      ]
    },
    add: (turn) => void turns.push(turn),
    takeBack: () => turns.pop()?.prompt ?? null,
    clear: () => void (turns = []),
  }
}

/** Returns the conversation as a document: JSON as the API takes it, or Markdown. */
export function writeTranscript(
  { system, turns }: Conversation,
  { model, path }: { model: string; path: string },
): string {
  const messages: ChatMessage[] = [
    ...(system === null ? [] : [{ role: 'system' as const, content: system }]),
    ...turns.flatMap(({ prompt, answer }) => [
      { role: 'user' as const, content: prompt },
      { role: 'assistant' as const, content: answer },
    ]),
  ]
  if (path.endsWith('.json')) return `${JSON.stringify({ model, messages }, null, 2)}\n`
  const parts = messages.map(
    ({ role, content }) => `## ${role === 'assistant' ? model : role}\n\n${textOf(content)}\n`,
  )
  return parts.join('\n')
}

function textOf(content: Content): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : '(image)')).join('\n\n')
}
