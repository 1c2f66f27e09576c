import { lazy, Suspense, useEffect, useState } from 'react'
import { handleConfirmation } from '../api/session-signals.ts'

const ConfirmKeyForm = lazy(async () => ({
  default: (await import('./confirm-key-form.tsx')).ConfirmKeyForm,
}))

/** Asks for the key again, when the API requires it for a request that changes credit. */
export function ConfirmKeyDialog() {
  const [answer, setAnswer] = useState<((isConfirmed: boolean) => void) | null>(null)
  useEffect(() => handleConfirmation(() => new Promise((resolve) => setAnswer(() => resolve))), [])
  if (answer === null) return null
  return (
    <Suspense>
      <ConfirmKeyForm
        onFinish={(isConfirmed) => {
          answer(isConfirmed)
          setAnswer(null)
        }}
      />
    </Suspense>
  )
}
