
pub mod faulty_agent;
pub mod model_server;
