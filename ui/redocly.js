// The server names operations by their handlers, so that several are called `read` or `list`; as names of types they
// would collide. The page does not use them: it names calls by their paths.

const withoutNames = () => ({
  Operation: {
    leave(operation) {
      delete operation.operationId;
    },
  },
});

export default () => ({
  id: "voxpilot",
  decorators: { oas3: { "without-operation-names": withoutNames } },
});
