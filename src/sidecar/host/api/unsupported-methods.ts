/** The methods of Dapr's gRPC API that `run` does not have: each is answered UNIMPLEMENTED with a text that names daprd. */

export const unsupportedMethods: readonly string[] = [
  ...['InvokeService', 'GetState', 'GetBulkState', 'SaveState', 'QueryStateAlpha1', 'DeleteState', 'DeleteBulkState'],
  ...['ExecuteStateTransaction', 'PublishEvent', 'BulkPublishEventAlpha1', 'BulkPublishEvent'],
  ...['SubscribeTopicEventsAlpha1', 'GetSecret', 'GetBulkSecret', 'RegisterActorTimer', 'UnregisterActorTimer'],
  ...['RegisterActorReminder', 'UnregisterActorReminder', 'UnregisterActorRemindersByType', 'ListActorReminders'],
  ...['GetActorState', 'GetActorReminder', 'ExecuteActorStateTransaction', 'InvokeActor'],
  ...['GetConfigurationAlpha1', 'GetConfiguration', 'SubscribeConfigurationAlpha1', 'SubscribeConfiguration'],
  ...['UnsubscribeConfigurationAlpha1', 'UnsubscribeConfiguration', 'TryLockAlpha1', 'UnlockAlpha1'],
  ...['EncryptAlpha1', 'DecryptAlpha1', 'SetMetadata', 'SubtleGetKeyAlpha1', 'SubtleEncryptAlpha1'],
  ...['SubtleDecryptAlpha1', 'SubtleWrapKeyAlpha1', 'SubtleUnwrapKeyAlpha1', 'SubtleSignAlpha1', 'SubtleVerifyAlpha1'],
  ...['StartWorkflowAlpha1', 'GetWorkflowAlpha1', 'PurgeWorkflowAlpha1', 'TerminateWorkflowAlpha1'],
  ...['PauseWorkflowAlpha1', 'ResumeWorkflowAlpha1', 'RaiseEventWorkflowAlpha1', 'StartWorkflowBeta1'],
  ...['GetWorkflowBeta1', 'PurgeWorkflowBeta1', 'TerminateWorkflowBeta1', 'PauseWorkflowBeta1', 'ResumeWorkflowBeta1'],
  ...['RaiseEventWorkflowBeta1', 'ScheduleJobAlpha1', 'GetJobAlpha1', 'DeleteJobAlpha1', 'DeleteJobsByPrefixAlpha1'],
  ...['ListJobsAlpha1', 'ConverseAlpha1', 'ConverseAlpha2'],
]
