import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { batchQuery, cancelBatch, contentPath, retryBatch, type Batch } from '../../api/batches.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { DatasetAction } from './dataset-action.tsx'

export function BatchActions({ batch }: { readonly batch: Batch }) {
  const { id, status, error_file_id: errorFileId, output_file_id: outputFileId } = batch
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setIsAsking] = useState(false)
  const keep = (changed: Batch): void => {
    queryClient.setQueryData(batchQuery(changed.id).queryKey, changed)
    void queryClient.invalidateQueries({ queryKey: ['batches', 'list'] })
  }
  const retry = useMutation({
    mutationFn: () => retryBatch(id),
    onSuccess: (made) => {
      keep(made)
      showToast('The failed lines are asked again', made.id)
      void navigate({ to: '/batches/$id', params: { id: made.id } })
    },
    onError: (error) => showFailure('The lines were not asked again', error),
  })
  const isRunning = status === 'validating' || status === 'in_progress'
  return (
    <>
      {outputFileId !== null && (
        <a href={contentPath(outputFileId)} download className={buttonClass()}>
          <Icon name="download" />
          Answers
        </a>
      )}
      <DatasetAction batch={batch} />
      {errorFileId !== null && (
        <Button kind="primary" icon="retry" isBusy={retry.isPending} onClick={() => retry.mutate()}>
          Retry the failed lines
        </Button>
      )}
      {isRunning && (
        <Button kind="danger" icon="stop" onClick={() => setIsAsking(true)}>
          Cancel the batch
        </Button>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Cancel this batch?"
          description="Lines that run may end. What was answered is kept and charged; the others can be asked again later."
          action="Cancel the batch"
          onConfirm={async () => keep(await cancelBatch(id))}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  )
}
