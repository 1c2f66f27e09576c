import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteDeployment,
  deploymentQuery,
  startDeployment,
  stopDeployment,
  type Deployment,
} from '../../api/deployment.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'

export function DeploymentActions({ deployment }: { readonly deployment: Deployment }) {
  const { id, name, status, desired_state: desired } = deployment
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [isAsking, setIsAsking] = useState(false)
  const keep = (changed: Deployment): void => {
    queryClient.setQueryData(deploymentQuery(id).queryKey, changed)
    void queryClient.invalidateQueries({ queryKey: ['deployments'] })
  }
  const start = useMutation({
    mutationFn: () => startDeployment(id),
    onSuccess: keep,
    onError: (error) => showFailure('The deployment was not started', error),
  })
  const stop = useMutation({
    mutationFn: () => stopDeployment(id),
    onSuccess: keep,
    onError: (error) => showFailure('The deployment was not stopped', error),
  })
  const remove = useMutation({
    mutationFn: () => deleteDeployment(id),
    onSuccess: () => {
      showToast('The deployment was deleted', name)
      void queryClient.invalidateQueries({ queryKey: ['deployments', 'list'] })
      void navigate({ to: '/deployments' })
    },
    onError: (error) => showFailure('The deployment was not deleted', error),
  })
  const isStartable = desired !== 'running' || status === 'error' || status === 'sleeping'
  return (
    <>
      {isStartable ? (
        <Button kind="primary" icon="play" isBusy={start.isPending} onClick={() => start.mutate()}>
          {status === 'sleeping' ? 'Wake' : 'Start'}
        </Button>
      ) : (
        <Button icon="stop" isBusy={stop.isPending} onClick={() => stop.mutate()}>
          Stop
        </Button>
      )}
      <Button kind="danger" icon="trash" onClick={() => setIsAsking(true)}>
        Delete
      </Button>
      <Dialog
        title={`Delete ${name}?`}
        description="Its GPU is released, and its model id stops working. Its bill and its history stay."
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        actions={
          <>
            <Button onClick={() => setIsAsking(false)}>Keep it</Button>
            <Button kind="danger" icon="trash" isBusy={remove.isPending} onClick={() => remove.mutate()}>
              Delete the deployment
            </Button>
          </>
        }
      />
    </>
  )
}
