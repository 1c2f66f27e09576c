/** Writes a conversation, and returns its id. Null: it is not kept yet. */
type Write = (id: string | null) => Promise<string>

/**
 * Keeps conversations, one write after the other, so that the second does not make a conversation of its own. What was said stays in the
 * conversation in which it was said, also where another one is opened before it is written.
 */
export class ConversationKeeper {
  #current: { id: string | null } = { id: null }
  #last: Promise<void> = Promise.resolve()

  /** Says that the conversation is another one now: one that was kept under this id, or a new one. */
  begin(id: string | null): void {
    this.#current = { id }
  }

  keep(write: Write): Promise<void> {
    const conversation = this.#current
    const written = this.#last.then(async () => {
      conversation.id = await write(conversation.id)
    })
    this.#last = written.catch(() => {})
    return written
  }
}
