import { lazy, Suspense, useEffect, useState } from 'react'
import { handleConfirmation } from '../api/session-signals.ts'

const ConfirmPerson = lazy(async () => ({
  default: (await import('./confirm-person.tsx')).ConfirmPerson,
}))

/** Asks the person to prove again who they are, when the API requires it for a request that changes money or rights. */
export function ConfirmDialog() {
  const [answer, setAnswer] = useState<((isConfirmed: boolean) => void) | null>(null)
  useEffect(() => handleConfirmation(() => new Promise((resolve) => setAnswer(() => resolve))), [])
  if (answer === null) return null
  return (
    <Suspense>
      <ConfirmPerson
        onFinish={(isConfirmed) => {
          answer(isConfirmed)
          setAnswer(null)
        }}
      />
    </Suspense>
  )
}
