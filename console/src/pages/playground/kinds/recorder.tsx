import { useRef, useState } from 'react'
import { Button } from '../../../ui/forms/button.tsx'
import { showFailure } from '../../../ui/overlays/toasts.tsx'

/** Records with the microphone of this computer. */
export function Recorder({ onRecording }: { readonly onRecording: (recording: Blob) => void }) {
  const [isRecording, setIsRecording] = useState(false)
  const recorder = useRef<MediaRecorder | null>(null)
  const start = async (): Promise<void> => {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    const pieces: Blob[] = []
    const made = new MediaRecorder(stream)
    made.addEventListener('dataavailable', ({ data }) => pieces.push(data))
    made.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop()
      setIsRecording(false)
      onRecording(new Blob(pieces, { type: made.mimeType }))
    })
    recorder.current = made
    made.start()
    setIsRecording(true)
  }
  return (
    <Button
      icon={isRecording ? 'stop' : 'microphone'}
      onClick={() => {
        if (isRecording) recorder.current?.stop()
        else start().catch((error: unknown) => showFailure('The microphone cannot be used', error))
      }}
    >
      {isRecording ? 'Stop recording' : 'Record'}
    </Button>
  )
}
