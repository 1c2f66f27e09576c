import { useRef, useState } from 'react'
import { Button } from '../../../ui/forms/button.tsx'
import { showFailure } from '../../../ui/overlays/toasts.tsx'

const PIECE_MS = 250

/** Records with the microphone of this computer. */
export function Recorder({ onRecording }: { readonly onRecording: (recording: Blob) => void }) {
  /** Null while nothing is recorded. */
  const [seconds, setSeconds] = useState<number | null>(null)
  const isRecording = seconds !== null
  const recorder = useRef<MediaRecorder | null>(null)
  const start = async (): Promise<void> => {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    const pieces: Blob[] = []
    const made = new MediaRecorder(stream)
    made.addEventListener('dataavailable', ({ data }) => {
      pieces.push(data)
      if (made.state === 'recording') setSeconds(Math.floor((pieces.length * PIECE_MS) / 1000))
    })
    made.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop()
      setSeconds(null)
      onRecording(new Blob(pieces, { type: made.mimeType }))
    })
    recorder.current = made
    made.start(PIECE_MS)
    setSeconds(0)
  }
  return (
    <Button
      icon={isRecording ? 'stop' : 'microphone'}
      onClick={() => {
        if (isRecording) recorder.current?.stop()
        else start().catch((error: unknown) => showFailure('The microphone cannot be used', error))
      }}
    >
      {isRecording ? `Stop recording (${seconds} s)` : 'Record'}
    </Button>
  )
}
