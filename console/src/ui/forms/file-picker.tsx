import { useId } from 'react'
import { showFailure } from '../overlays/toasts.tsx'
import { buttonClass } from './button.tsx'

interface FilePickerProps {
  readonly label: string
  /** Endings of names, such as ".json". */
  readonly accept: string
  readonly onRead: (text: string) => void
}

/** Reads a text file of the person. */
export function FilePicker({ label, accept, onRead }: FilePickerProps) {
  const id = useId()
  return (
    <div>
      <input
        type="file"
        id={id}
        accept={accept}
        className="peer sr-only"
        onChange={(event) => {
          const file = event.target.files?.[0]
          if (file !== undefined)
            file.text().then(onRead, (error: unknown) => showFailure('The file could not be read', error))
          // The same file can be chosen again after it was changed.
          event.target.value = ''
        }}
      />
      <label
        htmlFor={id}
        className={`${buttonClass()} cursor-pointer peer-focus-visible:outline-2 peer-focus-visible:outline-accent`}
      >
        {label}
      </label>
    </div>
  )
}
