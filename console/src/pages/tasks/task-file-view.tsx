import { useState } from 'react'
import { Icon } from '../../ui/icon.tsx'
import type { TaskFile } from './task-files.ts'

interface TaskFileViewProps {
  readonly file: TaskFile
  /** A description of the picture for screen readers. */
  readonly label: string
  /** Fills the place instead of showing all of it. */
  readonly isCropped?: boolean | undefined
}

/** A picture, or a player. */
export function TaskFileView({ file, label, isCropped }: TaskFileViewProps) {
  const [isGone, setIsGone] = useState(false)
  const onError = (): void => setIsGone(true)
  if (isGone) return <Gone />
  if (file.kind === 'audio')
    return (
      <audio controls preload="none" src={file.url} aria-label={label} onError={onError} className="w-full" />
    )
  const fit = isCropped ? 'size-full object-cover' : 'max-h-[60dvh] w-full object-contain'
  if (file.kind === 'video')
    return (
      <video
        controls={!isCropped}
        muted={isCropped ?? false}
        preload="metadata"
        src={file.url}
        aria-label={label}
        onError={onError}
        className={fit}
      />
    )
  return <img src={file.url} alt={label} loading="lazy" decoding="async" onError={onError} className={fit} />
}

function Gone() {
  return (
    <span className="flex size-full min-h-24 items-center justify-center gap-2 text-xs text-ink-faint">
      <Icon name="warn" />
      The file cannot be loaded any more.
    </span>
  )
}
