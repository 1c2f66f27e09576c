import { useQuery } from '@tanstack/react-query'
import { runQuery } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { NewRunDialog } from './new-run-dialog.tsx'

interface RunAgainProps {
  readonly id: string
  readonly onClose: () => void
}

/** Asks what to change of an earlier run, and runs it again. */
export function RunAgain({ id, onClose }: RunAgainProps) {
  const run = useQuery({ ...runQuery(id), refetchInterval: false })
  if (run.error) return <ErrorPanel title="The run could not be loaded" error={run.error} />
  return run.data && <NewRunDialog from={run.data} onClose={onClose} />
}
