import { useEffect, useRef } from 'react'

interface Picture {
  readonly url?: string | null | undefined
  readonly b64_json?: string | null | undefined
}

/** Pictures of an answer, by address or by content. */
export function PictureView({ pictures }: { readonly pictures: readonly Picture[] }) {
  return (
    <div className="flex flex-wrap gap-4">
      {pictures.map(({ url, b64_json: content }, index) => {
        const address = url ?? `data:image/png;base64,${content ?? ''}`
        return (
          <a key={index} href={address} download className="block">
            <img
              src={address}
              alt={`Result ${index + 1}`}
              className="max-h-[60dvh] max-w-full rounded-md border border-line"
            />
          </a>
        )
      })}
    </div>
  )
}

/** A file by its address: a picture, a video or a sound. */
export function MediaView({ url, type }: { readonly url: string; readonly type: string }) {
  if (type === 'video') return <video controls src={url} className="max-h-[60dvh] max-w-full rounded-md" />
  if (type === 'music' || type === 'tts') return <audio controls src={url} className="w-full" />
  return <PictureView pictures={[{ url }]} />
}

/** A sound that came as the answer itself. */
export function BlobView({ blob }: { readonly blob: Blob }) {
  const player = useRef<HTMLAudioElement>(null)
  useEffect(() => {
    const address = URL.createObjectURL(blob)
    if (player.current !== null) player.current.src = address
    return () => URL.revokeObjectURL(address)
  }, [blob])
  return <audio ref={player} controls aria-label="The spoken text" className="w-full" />
}
