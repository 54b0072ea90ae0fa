
pub mod model_server;
