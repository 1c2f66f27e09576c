import { useRef, useState, type PointerEvent } from 'react'
import { Button } from '../../../ui/forms/button.tsx'

interface MaskEditorProps {
  readonly address: string
  /** A picture of the same size whose transparent part is to be changed. Null: the whole picture may change. */
  readonly onMask: (mask: Blob | null) => void
}

const BRUSH_SHARE = 0.06

/** Paints over the part of a picture that an edit may change. */
export function MaskEditor({ address, onMask }: MaskEditorProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isPainted, setIsPainted] = useState(false)
  const paint = (event: PointerEvent<HTMLCanvasElement>): void => {
    const context = canvas.current?.getContext('2d')
    if (event.buttons !== 1 || !context) return
    const { width, height } = context.canvas
    const box = context.canvas.getBoundingClientRect()
    context.fillStyle = '#e69f00'
    context.beginPath()
    context.arc(
      ((event.clientX - box.left) / box.width) * width,
      ((event.clientY - box.top) / box.height) * height,
      Math.max(width, height) * BRUSH_SHARE,
      0,
      2 * Math.PI,
    )
    context.fill()
    setIsPainted(true)
  }
  const finish = (): void => {
    if (canvas.current !== null && isPainted)
      toMask(canvas.current).toBlob((mask) => onMask(mask), 'image/png')
  }
  const clear = (): void => {
    canvas.current?.getContext('2d')?.clearRect(0, 0, canvas.current.width, canvas.current.height)
    setIsPainted(false)
    onMask(null)
  }
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="relative">
        <img
          src={address}
          alt="What will be edited"
          className="max-h-80 rounded-md border border-line"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            if (canvas.current === null) return
            canvas.current.width = naturalWidth
            canvas.current.height = naturalHeight
          }}
        />
        <canvas
          ref={canvas}
          aria-label="Paint over the part to change"
          onPointerDown={paint}
          onPointerMove={paint}
          onPointerUp={finish}
          onPointerLeave={finish}
          className="absolute inset-0 size-full cursor-crosshair touch-none opacity-60"
        />
      </div>
      {isPainted && (
        <Button kind="quiet" icon="close" onClick={clear}>
          Change the whole picture
        </Button>
      )}
    </div>
  )
}

/** Opaque where nothing was painted, as the API wants it. */
function toMask(painted: HTMLCanvasElement): HTMLCanvasElement {
  const mask = document.createElement('canvas')
  mask.width = painted.width
  mask.height = painted.height
  const context = mask.getContext('2d')
  if (context === null) return mask
  context.fillRect(0, 0, mask.width, mask.height)
  context.globalCompositeOperation = 'destination-out'
  context.drawImage(painted, 0, 0)
  return mask
}
