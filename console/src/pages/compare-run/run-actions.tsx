import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { cancelRun, createFailures, isUnderWay, type CompareRun } from '../../api/compare.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { ResumeDialog } from './resume-dialog.tsx'

/** What can be done with a run: cancel it, go on with it, take it along. */
export function RunActions({ run }: { readonly run: CompareRun }) {
  const queryClient = useQueryClient()
  const [isResuming, setIsResuming] = useState(false)
  const cancel = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ['compare'] }),
    onError: (error) => showFailure('The run was not cancelled', error),
  })
  const keep = useMutation({
    mutationFn: () => createFailures(run.id),
    onSuccess: ({ name, prompts_total: total }) => {
      void queryClient.invalidateQueries({ queryKey: ['compare', 'datasets'] })
      showToast(
        `The dataset “${name}” was made`,
        `${formatCountOf(total, 'prompt')}. A new run can take them.`,
      )
    },
    onError: (error) => showFailure('No dataset was made', error),
  })
  const isOver = !isUnderWay(run)
  const left = run.cells_total - run.cells_done
  // The judge may have work left when all answers are there.
  const isUnjudged = run.judge !== null && run.status !== 'completed'
  return (
    <>
      {!isOver && (
        <Button icon="stop" isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {isOver && (left > 0 || isUnjudged) && (
        <Button icon="play" kind="primary" onClick={() => setIsResuming(true)}>
          Resume
        </Button>
      )}
      {isOver && (
        <>
          <Link to="/compare" search={{ tab: 'runs', again: run.id }} className={buttonClass()}>
            <Icon name="retry" />
            Run again
          </Link>
          <Button icon="plus" isBusy={keep.isPending} onClick={() => keep.mutate()}>
            Failures as a dataset
          </Button>
        </>
      )}
      {(['csv', 'json'] as const).map((format) => (
        <a
          key={format}
          href={`/v1/compare/runs/${run.id}/export?format=${format}`}
          download={`run.${format}`}
          className={buttonClass()}
        >
          <Icon name="download" />
          {format.toUpperCase()}
        </a>
      ))}
      {isResuming && <ResumeDialog run={run} left={left} onClose={() => setIsResuming(false)} />}
    </>
  )
}
