import { useRef, useState, type ClipboardEvent, type KeyboardEvent, type ReactNode } from 'react'
import { Button } from '../../../ui/forms/button.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { readAsDataUri } from '../read-as-data-uri.ts'

interface ComposerProps {
  /** The text to begin with. */
  readonly draft: string
  readonly onDraft: (text: string) => void
  /** Says what it costs to send a text. */
  readonly renderEstimate: (text: string) => ReactNode
  readonly isStreaming: boolean
  readonly takesImages: boolean
  readonly onSend: (text: string, images: readonly string[]) => void
  readonly onStop: () => void
}

const IMAGES_MAX = 8

/** Where the next message is written. Enter sends, Shift and Enter begin a line. */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, renderEstimate, isStreaming, takesImages, onSend, onStop } = props
  const [text, setText] = useState(draft)
  const [images, setImages] = useState<readonly string[]>([])
  const picker = useRef<HTMLInputElement>(null)
  const canSend = !isStreaming && (text.trim() !== '' || images.length > 0)
  const write = (written: string): void => {
    setText(written)
    onDraft(written)
  }
  const send = (): void => {
    if (!canSend) return
    onSend(text, images)
    write('')
    setImages([])
  }
  const add = async (files: readonly File[]): Promise<void> => {
    const pictures = files.filter(({ type }) => type.startsWith('image/'))
    const read = await Promise.all(pictures.map(readAsDataUri))
    setImages((old) => [...old, ...read].slice(0, IMAGES_MAX))
  }
  const onPaste = (event: ClipboardEvent): void => {
    if (takesImages && event.clipboardData.files.length > 0) void add([...event.clipboardData.files])
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className="px-4 pb-4 sm:px-6">
      <div className="mx-auto flex max-w-3xl flex-col gap-2 rounded-lg border border-line-strong bg-surface p-2 focus-within:border-accent">
        {images.length > 0 && (
          <ul className="flex flex-wrap gap-2" aria-label="Attached">
            {images.map((image, index) => (
              <li key={index} className="relative">
                <img
                  src={image}
                  alt={`Number ${index + 1} of this message`}
                  className="size-16 rounded-md border border-line object-cover"
                />
                <IconButton
                  icon="close"
                  label={`Remove picture ${index + 1}`}
                  className="absolute -top-2 -right-2 size-6 bg-surface"
                  onClick={() => setImages(images.filter((_, other) => other !== index))}
                />
              </li>
            ))}
          </ul>
        )}
        <textarea
          aria-label="Message"
          placeholder="Message"
          rows={1}
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={onKey}
          onPaste={onPaste}
          className="field-sizing-content max-h-60 min-h-9 w-full resize-none bg-transparent px-1.5 py-1.5 outline-none placeholder:text-ink-faint"
        />
        <div className="flex items-center gap-2">
          {takesImages && (
            <>
              <IconButton icon="image" label="Add a picture" onClick={() => picker.current?.click()} />
              <input
                ref={picker}
                type="file"
                accept="image/*"
                multiple
                hidden
                aria-label="Pictures"
                onChange={({ target }) => {
                  void add([...(target.files ?? [])])
                  target.value = ''
                }}
              />
            </>
          )}
          <span className="grow" />
          {images.length === 0 && renderEstimate(text)}
          {isStreaming ? (
            <Button icon="stop" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button kind="primary" icon="send" disabled={!canSend} onClick={send}>
              Send
            </Button>
          )}
        </div>
      </div>
    </div>
  )
}
