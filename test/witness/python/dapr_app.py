"""An application with Dapr's SDK for Python, unmodified: it takes events and publishes over gRPC.

Each step is a line of JSON on standard output. The environment has the ports and tokens as daprd sets them. A line on standard input
says that events may come.
"""

import json
import os
import queue
import sys
import threading

import grpc
from dapr.clients import DaprClient
from dapr.ext.grpc import App, BindingRequest

app = App()
handled: 'queue.Queue[dict]' = queue.Queue()
attempts = 0


@app.binding('orders')
def on_order(request: BindingRequest) -> None:
    global attempts
    attempts += 1
    if attempts == 1:
        raise RuntimeError('not yet')
    handled.put({'event': json.loads(request.text()), 'metadata': dict(request.metadata)})


def step(name):
    def take(check):
        try:
            check()
            line = {'step': name}
        except Exception as error:  # The next step is taken all the same.
            line = {'step': name, 'error': f'{type(error).__name__}: {error}'}
        print(json.dumps(line), flush=True)

    return take


def equal(found, expected):
    if found != expected:
        raise AssertionError(f'{found!r} is not {expected!r}')


def fails(call, code, text):
    try:
        call()
    except grpc.RpcError as error:
        equal(error.code(), code)
        if text not in error.details():
            raise AssertionError(f'{error.details()!r} lacks {text!r}')
        return
    raise AssertionError('it did not fail')


threading.Thread(target=app.run, args=(int(os.environ['APP_PORT']),), daemon=True).start()
sys.stdin.readline()

with DaprClient() as client:

    @step('publishes with create and gets the ids')
    def _():
        answer = client.invoke_binding('orders', 'create', json.dumps({'order': 1}), {'type': 'order.placed'})
        equal(dict(answer.binding_metadata)['count'], '1')

    @step('takes the event, which was delivered again after its handler had failed')
    def _():
        taken = handled.get(timeout=30)
        equal((taken['event']['type'], taken['event']['data'], attempts), ('order.placed', {'order': 1}, 2))
        equal('x-eventgrid-binding-token' in {name.lower() for name in taken['metadata']}, False)

    @step('reads the metadata')
    def _():
        components = client.get_metadata().registered_components
        equal([component.name for component in components], ['orders'])

    @step('gets the text of Dapr for an unknown binding')
    def _():
        call = lambda: client.invoke_binding('parcels', 'create', 'x')
        fails(call, grpc.StatusCode.INTERNAL, "couldn't find output binding parcels")

    @step('is told to take daprd for state')
    def _():
        fails(lambda: client.get_state('store', 'key'), grpc.StatusCode.UNIMPLEMENTED, 'does not implement the method')

    @step('shuts it down')
    def _():
        client.shutdown()
